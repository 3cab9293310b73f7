const KINDS = {
  U: 'person',
  W: 'person',
  C: 'channel',
  G: 'channel',
  D: 'directMessage',
  S: 'group',
} as const;

/** Returns what a text names if it has the form of an id of Slack: a person, a conversation or a user group. */
export const kindOfId = (text: string): (typeof KINDS)[keyof typeof KINDS] | undefined =>
  /^[A-Z][A-Z0-9]{4,20}$/.test(text) ? KINDS[text[0] as keyof typeof KINDS] : undefined;

/** The same for texts that may be words, such as SUPPORT: an id has a digit. */
export const kindOfSureId = (text: string) => (/\d/.test(text) ? kindOfId(text) : undefined);

/** Whether a word has the form of an id of Slack of any kind, also of a team or an app; HTTP2 is a word. */
export const isAnyId = (word: string) => /^[A-Z](?=[A-Z]*\d)[A-Z0-9]{7,}$/.test(word);

/** Whether a conversation that Slack names is a direct message of one person with the app. */
export const isDirectMessage = (channel: string) => channel.startsWith('D');
