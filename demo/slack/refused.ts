/** A call that Slack answers with `ok: false` and this code. */
export class Refused extends Error {
  readonly code: string;
  readonly detail: Record<string, unknown>;
  /** Why it says nothing against the bot: a test has ordered it, or the bot finds something out by it. */
  readonly why: 'ordered' | 'expected' | undefined;

  constructor(code: string, detail: Record<string, unknown> = {}, why?: Refused['why']) {
    super(code);
    this.code = code;
    this.detail = detail;
    this.why = why;
  }
}

/** The code of a refusal; anything else that was thrown is a mistake here and goes on. */
export function refusalOf(error: unknown): string {
  if (error instanceof Refused) return error.code;
  if (error instanceof SyntaxError) return 'invalid_json';
  throw error;
}
