/**
 * Limits above which Slack refuses or cuts, each with its source: a page below https://docs.slack.dev/reference/ unless
 * it says otherwise. Lengths count UTF-16 code units, as JavaScript's `length` does.
 */
export const SLACK_LIMITS = {
  /** `text` of a message, which is cut: methods/chat.postMessage, "Truncating content". */
  messageText: 40_000,
  /** `text` of an edited message, in bytes of UTF-8 and as it is escaped: methods/chat.update, `msg_too_long`. */
  editedTextBytes: 4000,
  /**
   * All blocks of a message together, `& < >` as they are escaped. On no page; `msg_blocks_too_long` came from 13,172
   * characters on: https://github.com/slackapi/bolt-js/issues/2509.
   */
  messageBlocksText: 13_000,

  /** block-kit/block-elements/button-element */
  buttonText: 75,
  buttonValue: 2000,
  buttonUrl: 3000,

  /** block-kit/composition-objects/option-object */
  optionText: 75,
  /** `options` of a select: block-kit/block-elements/select-menu-element */
  selectOptions: 100,
  /** `initial_value` of a text field: block-kit/block-elements/plain-text-input-element */
  inputInitialValue: 3000,

  /** views/modal-views */
  modalTitle: 24,
  modalPrivateMetadata: 3000,
  /** A problem at a field of a modal. On no page; as short as Slack wants a placeholder there to be. */
  modalFieldError: 150,
} as const;

/** Returns the text. When Slack would refuse it, throws `RangeError`, which does not repeat it: a defect of ours. */
export function checkLimit(limit: keyof typeof SLACK_LIMITS, text: string): string {
  const max = SLACK_LIMITS[limit];
  if (text.length > max) throw new RangeError(`${limit}: ${text.length} characters, and Slack takes ${max}`);
  return text;
}
