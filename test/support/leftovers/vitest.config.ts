import config from '../../../vitest.config.ts';

/** A run that is to be interrupted, with the set-up of the others. */
export default { test: { ...config.test, include: ['test/support/leftovers/waits.ts'] } };
