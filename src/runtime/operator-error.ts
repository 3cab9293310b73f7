/** Docket cannot run until an operator acts. The message says what to do, and is printed without a stack. */
export class OperatorError extends Error {}
