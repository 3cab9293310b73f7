import type { Workspace } from './workspace.ts';

/**
 * What Slack makes of text that a person types: `& < >` escaped, `@ana` and `#docs` turned into references. References
 * that are written out already stay.
 */
export function typedText({ users, channels }: Workspace, text: string): string {
  return text
    .split(/(<[@#!][^<>\s]+>|<https?:[^<>]+>)/)
    .map((part, index) => {
      if (index % 2 === 1) return part;
      return part
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replace(/(?<![\w@])@(\w+)/g, (written, name: string) => {
          if (['here', 'channel', 'everyone'].includes(name)) return `<!${name}>`;
          const user = users.find((candidate) => candidate.name === name.toLowerCase());
          return user ? `<@${user.id}>` : written;
        })
        .replace(/(?<!\w)#([\w-]+)/g, (written, name: string) => {
          const channel = channels.find(
            (candidate) => candidate.kind === 'public' && candidate.name === name,
          );
          return channel ? `<#${channel.id}|${name}>` : written;
        });
    })
    .join('');
}
