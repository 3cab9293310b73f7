/** Returns a moment in one of Slack's date formats, in this browser's zone. */
export function dateText(seconds: number, format: string, nowMs: number): string {
  const at = new Date(seconds * 1000);
  const dated = (options: Intl.DateTimeFormatOptions) => at.toLocaleDateString('en-US', options);
  const short = dated({ month: 'short', day: 'numeric', year: 'numeric' });
  const long = dated({ weekday: 'long', month: 'long', day: 'numeric', year: 'numeric' });
  const plain = dated({ month: 'long', day: 'numeric', year: 'numeric' });
  const pretty = (text: string) => nearDay(at, nowMs) ?? text;
  const texts: Record<string, string> = {
    date_num: at.toLocaleDateString('sv-SE'),
    date_slash: dated({ month: '2-digit', day: '2-digit', year: 'numeric' }),
    date: plain,
    date_short: short,
    date_long: long,
    date_pretty: pretty(plain),
    date_short_pretty: pretty(short),
    date_long_pretty: pretty(long),
    day_divider_pretty: pretty(long),
    time: timeText(seconds),
    time_secs: at.toLocaleTimeString('en-GB'),
    ago: agoText(seconds * 1000, nowMs),
  };
  return format.replace(/\{(\w+)\}/g, (token, name: string) => texts[name] ?? token);
}

/** Returns the time of the day, as `14:05`. */
export const timeText = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleTimeString('en-GB', { timeStyle: 'short' });

const DAY_MS = 86_400_000;

function nearDay(at: Date, nowMs: number): string | undefined {
  const day = (ms: number) => new Date(ms).toDateString();
  const near = [-1, 0, 1].find((days) => at.toDateString() === day(nowMs + days * DAY_MS));
  return near === undefined ? undefined : ['yesterday', 'today', 'tomorrow'][near + 1];
}

/** The page's time may be a little behind that of a message which has just come. */
const STALE_S = 10;

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

function agoText(atMs: number, nowMs: number): string {
  const exact = Math.round((atMs - nowMs) / 1000);
  const seconds = exact > 0 && exact < STALE_S ? 0 : exact;
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? (['second', 1] as const);
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(Math.round(seconds / size), unit);
}

/** Returns the line that begins a day in a conversation. */
export function dayText(seconds: number, nowMs: number): string {
  const at = new Date(seconds * 1000);
  const near = nearDay(at, nowMs);
  if (near === 'today' || near === 'yesterday') return near === 'today' ? 'Today' : 'Yesterday';
  return at.toLocaleDateString('en-US', { weekday: 'long', month: 'long', day: 'numeric' });
}
