/**
 * Limits above which Slack refuses or cuts, each with its source: a page below https://docs.slack.dev/reference/ unless
 * stated otherwise. Lengths count UTF-16 code units, as JavaScript's `length` does.
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
  /** `blocks` of a message: block-kit/blocks */
  messageBlocks: 50,

  /** block-kit/blocks/table-block; the text is that of all tables of a message together */
  tableRows: 100,
  tableColumns: 20,
  tablesText: 10_000,
  /** block-kit/blocks/data-visualization-block; labels are those of points and of series */
  charts: 2,
  chartTitle: 50,
  chartSeries: 12,
  chartPoints: 20,
  chartLabel: 20,
  chartAxisTitle: 50,
  /** block-kit/blocks/context-block */
  contextElements: 10,
  /** block-kit/composition-objects/text-object, which also stands in a context block */
  textObject: 3000,

  /** block-kit/block-elements/button-element */
  buttonText: 75,
  buttonValue: 2000,
  buttonUrl: 3000,

  /** block-kit/composition-objects/confirmation-dialog-object */
  confirmTitle: 100,
  confirmText: 300,
  confirmButton: 30,

  /** block-kit/composition-objects/option-object */
  optionText: 75,
  /** `options` of an overflow menu, and the `value` of one: block-kit/block-elements/overflow-menu-element */
  menuEntries: 5,
  menuValue: 75,
  /** `block_id` of any block: block-kit/blocks/actions-block */
  blockId: 255,
  /** `options` of a select: block-kit/block-elements/select-menu-element */
  selectOptions: 100,
  /** `option_groups` of a select, each with `selectOptions` at most; its label takes `optionText`: same page */
  selectGroups: 100,
  /** `options` of checkboxes: block-kit/block-elements/checkboxes-element */
  checkboxes: 10,
  /** `initial_value` of a text field: block-kit/block-elements/plain-text-input-element */
  inputInitialValue: 3000,

  /** views/modal-views */
  modalTitle: 24,
  modalPrivateMetadata: 3000,
  /** A problem at a modal's field. Not documented; as short as Slack's limit for a placeholder there. */
  modalFieldError: 150,
} as const;

/**
 * Returns the text or the list. If Slack would refuse its length, throws `RangeError` without its content: a defect of
 * ours.
 */
export function checkLimit<T extends string | readonly unknown[]>(
  limit: keyof typeof SLACK_LIMITS,
  value: T,
): T {
  const max = SLACK_LIMITS[limit];
  const unit = typeof value === 'string' ? 'characters' : 'entries';
  if (value.length > max) throw new RangeError(`${limit}: ${value.length} ${unit}, and Slack takes ${max}`);
  return value;
}
