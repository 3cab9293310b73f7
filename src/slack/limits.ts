/**
 * Limits to which Docket cuts, each with its source: a page below https://docs.slack.dev/reference/ unless stated
 * otherwise. Lengths count UTF-16 code units, as JavaScript's `length` does. The stand-in Slack checks all limits.
 */
export const SLACK_LIMITS = {
  /** `text` of a message, which is cut: methods/chat.postMessage, "Truncating content". */
  messageText: 40_000,
  /** `text` of an edited message, in bytes of UTF-8 and as it is escaped: methods/chat.update, `msg_too_long`. */
  editedTextBytes: 4000,
  /**
   * All blocks of a message together, with `& < >` escaped. Not documented; `msg_blocks_too_long` came from 13,172
   * characters on: https://github.com/slackapi/bolt-js/issues/2509.
   */
  messageBlocksText: 13_000,

  /** block-kit/block-elements/button-element; `accessibility_label` has the same limit. */
  buttonText: 75,
  buttonValue: 2000,
  buttonUrl: 3000,
  /** block-kit/composition-objects/option-object */
  optionText: 75,
  /** `block_id` of any block: block-kit/blocks/actions-block */
  blockId: 255,
  /** `options` of a select: block-kit/block-elements/select-menu-element */
  selectOptions: 100,
  /** `initial_value` of a text field: block-kit/block-elements/plain-text-input-element */
  inputInitialValue: 3000,

  /** views/modal-views */
  modalTitle: 24,
  /** A problem at a modal's field. Not documented; as short as Slack's limit for a placeholder there. */
  modalFieldError: 150,
} as const;
