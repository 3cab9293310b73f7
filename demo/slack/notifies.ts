import type { Block } from './workspace.ts';

/**
 * Whom a new post notifies: ids of people and user groups, and `here`, `channel`, `everyone`. Slack does not say
 * whether a mention that is only in the fallback text of a message with blocks counts, so here it does.
 */
export function notifiedBy(text: string, blocks: Block[]): string[] {
  const found = new Set<string>();
  addMentions(text, found);
  walk(blocks, found);
  return [...found];
}

function walk(value: unknown, found: Set<string>): void {
  if (Array.isArray(value)) {
    for (const item of value) walk(item, found);
  } else if (value !== null && typeof value === 'object') {
    const node = value as Record<string, unknown>;
    // Only these two parse mentions; plain_text and rich text elements of type `text` show them as they are.
    if ((node.type === 'mrkdwn' || node.type === 'markdown') && typeof node.text === 'string') {
      addMentions(node.text, found);
    } else if (node.type === 'user' && typeof node.user_id === 'string') found.add(node.user_id);
    else if (node.type === 'usergroup' && typeof node.usergroup_id === 'string') found.add(node.usergroup_id);
    else if (node.type === 'broadcast' && typeof node.range === 'string') found.add(node.range);
    else for (const item of Object.values(node)) walk(item, found);
  }
}

function addMentions(text: string, found: Set<string>): void {
  for (const [, user, group, range] of text.matchAll(
    /<(?:@([UW]\w+)|!subteam\^(S\w+)|!(here|channel|everyone))(?:\|[^>]*)?>/g,
  )) {
    found.add(user ?? group ?? range ?? '');
  }
}
