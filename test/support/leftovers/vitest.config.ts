import config from '../../../vitest.config.ts';

/** A run that is to be interrupted, with the set-up of the others. */
const { projects, ...test } = config.test ?? {};
export default { test: { ...test, include: ['test/support/leftovers/waits.ts'] } };
