/**
 * States that break a rule of the gallery for now, by the rule. What keeps to the rule has to go from its list: the tests
 * say so.
 */
export const notYet: Record<'text' | 'lines', readonly string[]> = {
  text: [],
  lines: [],
};
