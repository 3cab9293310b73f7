const phrases = (list: string) => list.trim().split(/,\s+/u);

/** Phrases that people say to each other, or to the agent after its work. */
const TALK = phrases(`
  hi, hello, hey, hiya, howdy, yo, good morning, morning, good afternoon, good evening, good night, bye,
  goodbye, see you, welcome, how are you, hallo, thanks, thanks again, thanks a lot, thanks a million,
  thanks a bunch, many thanks, thanks so much, thanks very much, thank you, thank you again,
  thank you so much, thank you very much, thanks for that, thanks for this, thank you for that, thank u,
  thankyou, thanks for your help, thank you for your help, thx, tnx, ty, tysm, tyvm, much appreciated,
  appreciated, appreciate it, i appreciate it, cheers, danke, merci, gracias, kudos, ok, okay, okey, k, kk,
  alright, all right, all good, fine, got it, understood, noted, i see, sure, no problem, no worries, np,
  you re welcome, great, nice, nice one, cool, perfect, awesome, excellent, wonderful, amazing, super,
  brilliant, fantastic, lovely, wow, good, very good, very nice, great job, good job, nice job, great work,
  good work, nice work, well done, sweet, neat, love it, i love it, looks good, looks great,
  looks good to me, this looks good, this looks great, lgtm, sounds good, sounds great, that s great,
  thats great, that s good, that s perfect, this is great, this is perfect, works for me, that works, haha,
  lol, yay, hooray, oh, ah`);

/** Addressees of such phrases. */
const ADDRESSEES = phrases(`
  all, everyone, everybody, team, folks, guys, there, docket, agent, you too`);

const STATUS = phrases(`
  status, the status, what s the status, whats the status, what is the status, current status,
  status update, any status update, any update, any updates, any news, any progress, progress,
  how is it going, how s it going, hows it going, how is it, how far is it, how far are you, eta,
  is it done, is this done, are you done, done yet, is it done yet, are you done yet, is it ready,
  is it finished, is this finished, ready yet, is it ready yet, finished yet, still working, status please,
  are you still working, are you still there, where are we, what are you doing, what s happening`);

const PHRASES = new Map([
  ...TALK.map((phrase) => [phrase, 'smallTalk'] as const),
  ...ADDRESSEES.map((phrase) => [phrase, 'addressee'] as const),
  ...STATUS.map((phrase) => [phrase, 'status'] as const),
]);
const MAX_PHRASE_WORDS = Math.max(...[...PHRASES.keys()].map((phrase) => phrase.split(' ').length));

/** Names of people; emoji, including named ones such as a workspace's own; keycaps, "+1" and ":-)". */
const names = /@(?:"[^"\n]{1,60}"|[^\s@",;:!?]{1,60})/gu;
const emoji = /:[\w+-]{1,100}:|[\d#*]\uFE0F?\u20E3|(?<!\S)\+1(?![\p{L}\p{N}])|\p{Extended_Pictographic}/gu;
const smileys = /(?<![^\s\p{P}])[:;=]-?[()DPpo](?![\p{L}\p{N}])/gu;
const otherThanWords = /[^\p{L}\p{M}\p{N}]+/gu;

const wordsOf = (text: string) =>
  text
    .replace(names, ' ')
    .replace(emoji, ' ')
    .replace(smileys, ' ')
    .normalize('NFKC')
    .replace(otherThanWords, ' ')
    .trim()
    .toLowerCase();

/**
 * Returns `smallTalk` for a text of only greetings, thanks, praise or emoji, and `status` for a question about the
 * agent's progress. Returns undefined for all else: one more word makes the text an instruction.
 */
export function readSmallTalk(text: string): 'smallTalk' | 'status' | undefined {
  const words = wordsOf(text).split(' ').filter(Boolean);
  const said = new Set<string>(words.length === 0 ? ['smallTalk'] : []);
  for (let at = 0; at < words.length; ) {
    const phrase = phraseAt(words, at);
    if (phrase === undefined) return undefined;
    said.add(phrase.kind);
    at += phrase.length;
  }
  if (said.has('status')) return 'status';
  return said.has('smallTalk') ? 'smallTalk' : undefined;
}

/** Returns the longest phrase that begins with this word. */
function phraseAt(words: readonly string[], at: number) {
  for (let length = Math.min(MAX_PHRASE_WORDS, words.length - at); length > 0; length -= 1) {
    const kind = PHRASES.get(words.slice(at, at + length).join(' '));
    if (kind !== undefined) return { kind, length };
  }
  return undefined;
}
