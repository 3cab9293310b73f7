/** What a real client would not let a person do. The message is a sentence without its full stop. */
export class Impossible extends Error {
  override name = 'Impossible';
}
