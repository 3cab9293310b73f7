import { pointed } from './block-kit/check.ts';
import type { Files } from './files.ts';
import { Refused } from './refused.ts';
import type { Block } from './workspace.ts';

/** What a workspace refuses, though Slack's documentation allows it. */
export interface Refuses {
  /** `data_visualization`, which not every workspace has yet. */
  charts?: true;
  tables?: true;
  /** `chat.delete`, with this code: the compliance exports or the settings of the workspace prevent it. */
  deletions?: 'compliance_exports_prevent_deletion' | 'cant_delete_message';
  /** An administrator has switched files off, or the app was installed without their scopes. */
  files?: 'disabled' | 'scope';
}

const SHOWN_TYPES = ['image/png', 'image/jpeg', 'image/gif'];

/** Checks what depends on this workspace: blocks that it does not know, and images of files. */
export function checkShownHere(
  here: { refuses: Refuses; files: Pick<Files, 'finished'> },
  blocks: Block[],
): void {
  const { refuses, files } = here;
  blocks.forEach((block, index) => {
    const refused =
      (block.type === 'data_visualization' && refuses.charts) || (block.type === 'table' && refuses.tables);
    if (refused) throw invalid(`unsupported type: ${block.type}`, ['blocks', index, 'type'], 'ordered');
    for (const id of fileIdsIn(block)) {
      const file = files.finished.find((one) => one.id === id);
      if (SHOWN_TYPES.includes(file?.mimetype ?? '')) continue;
      const isEarly = file !== undefined && file.mimetype === undefined;
      throw invalid('invalid slack file', ['blocks', index, 'slack_file'], isEarly ? 'expected' : undefined);
    }
  });
}

function invalid(message: string, path: PropertyKey[], why: Refused['why']): Refused {
  const error = pointed(message, path);
  return new Refused(
    'invalid_blocks',
    { errors: [error], response_metadata: { messages: [`[ERROR] ${error}`] } },
    why,
  );
}

/** The files that images in a block show. */
function fileIdsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(fileIdsIn);
  if (value === null || typeof value !== 'object') return [];
  const { type, slack_file: file } = value as { type?: string; slack_file?: { id?: string } };
  if (type === 'image') return file?.id === undefined ? [] : [file.id];
  return Object.values(value).flatMap(fileIdsIn);
}
