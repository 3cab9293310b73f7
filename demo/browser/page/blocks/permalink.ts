/** Returns the thread that a link to a message of Slack leads to; nothing for any other address. */
export function threadOf(url: string): { channel: string; root: string } | undefined {
  const match = /^https:\/\/[\w.-]+\.slack\.com\/archives\/(\w+)\/p(\d{10})(\d{6})(\?.*)?$/.exec(url);
  if (!match) return undefined;
  const [, channel = '', seconds, micros, query = ''] = match;
  return { channel, root: new URLSearchParams(query).get('thread_ts') ?? `${seconds}.${micros}` };
}
