import { createContext, useContext } from 'react';
import type { Scene } from '../state/scene.ts';
import type { Node } from './block.ts';

/** What blocks need of the page around them. */
export interface Around {
  scene: Pick<Scene, 'people' | 'conversations' | 'workspace'>;
  /** The demo's time. */
  nowMs: number;
  /** Somebody used a control: `chosen` is the text of an option, or several. */
  use(blockId: string, element: Node, chosen?: string | string[]): void;
  /** Shows a thread to which a link in a message leads. */
  openThread(channel: string, root: string): void;
  /** The conversation in which a dialog was opened. */
  current?: string | undefined;
}

export const AroundContext = createContext<Around | undefined>(undefined);

export function useAround(): Around {
  const around = useContext(AroundContext);
  if (!around) throw new Error('Blocks are drawn inside of an AroundContext.');
  return around;
}

/** What is filled in in a modal, by block id; and what is wrong with it. */
export interface Form {
  values: Readonly<Record<string, string | string[]>>;
  errors: Readonly<Record<string, string>>;
  fill(blockId: string, value: string | string[]): void;
}

export const FormContext = createContext<Form | undefined>(undefined);
