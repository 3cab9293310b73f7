import { NOW_MS } from '../support/builders.ts';

// How Slack would show what is a token in a message, at the time of the examples and in UTC.

export const people = { U0ANA: 'Ana', U0BEN: 'Ben' } as Record<string, string>;
export const channels = { C0DOCS: 'docs' } as Record<string, string>;

/** Returns a moment as Slack shows it in one of its formats. */
export function dateText(seconds: number, format: string): string {
  const at = new Date(seconds * 1000);
  const day = at.toLocaleDateString('en', { dateStyle: 'medium', timeZone: 'UTC' });
  const isToday = at.toISOString().slice(0, 10) === new Date(NOW_MS).toISOString().slice(0, 10);
  const texts: Record<string, string> = {
    ago: agoText(seconds - NOW_MS / 1000),
    date_short: day,
    date_short_pretty: isToday ? 'today' : day,
    time: at.toLocaleTimeString('en-GB', { timeStyle: 'short', timeZone: 'UTC' }),
  };
  return format.replace(/\{(\w+)\}/g, (_, name: string) => {
    const text = texts[name];
    if (text === undefined) throw new Error(`no date format ${name}`);
    return text;
  });
}

function agoText(seconds: number): string {
  const ago = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  const units = [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const;
  const [unit, size] = units.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const);
  return ago.format(Math.round(seconds / size), unit);
}

/** Returns the `text` of a message as a notification shows it, and a screen reader says it. */
export const spokenText = (text: string): string =>
  text
    .replace(/<!date\^(\d+)\^([^|]+)\|[^>]*>/g, (_, at: string, format: string) =>
      dateText(Number(at), format),
    )
    .replace(/<@(\w+)>/g, (_, id: string) => `@${people[id] ?? id}`)
    .replace(/<#(\w+)>/g, (_, id: string) => `#${channels[id] ?? id}`)
    .replace(/<[^|>]+\|([^>]+)>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
