import type { ReactNode } from 'react';
import type { Target } from '../../protocol.ts';
import { type Node, nodeOf, textOf } from '../blocks/block.ts';
import { AroundContext } from '../blocks/context.ts';
import { type Page, usePage } from '../shell/page-context.ts';

/** Gives blocks their surroundings: what is used in them is sent to the app, once a confirmation was answered. */
export function Around({ target, children }: { target: Target; children: ReactNode }): ReactNode {
  const page = usePage();
  const { scene, nowMs, place } = page;
  const use = async (blockId: string, element: Node, chosen?: string | string[]) => {
    if (!(await confirmed(page, element))) return;
    const actionId = String(element.action_id);
    await page.act({ do: 'use', target, blockId, actionId, ...(chosen !== undefined && { chosen }) });
  };
  const current = place === 'home' ? undefined : place?.conversation;
  return (
    <AroundContext value={{ scene, nowMs, use, current, openThread: page.openThread }}>
      {children}
    </AroundContext>
  );
}

async function confirmed(page: Page, element: Node): Promise<boolean> {
  const confirm = nodeOf(element.confirm);
  if (!confirm) return true;
  return page.ask({
    title: textOf(confirm.title),
    text: textOf(confirm.text),
    yes: textOf(confirm.confirm) || 'OK',
    no: textOf(confirm.deny) || 'Cancel',
    danger: confirm.style === 'danger',
  });
}
