import { z } from 'zod';
import { mentionRun } from '../../src/jobs/agent/mention/record.ts';
import { threadEvent } from '../../src/jobs/agent/thread/event.ts';
import { listedThread, threadRun } from '../../src/jobs/agent/thread/record.ts';
import { watchRun } from '../../src/jobs/agent/watch/record.ts';
import { askRun } from '../../src/jobs/digest/ask/record.ts';
import { editionRun } from '../../src/jobs/digest/edition/record.ts';
import { figuresRun } from '../../src/jobs/digest/figures/record.ts';
import { scheduleRun } from '../../src/jobs/digest/schedule/record.ts';
import { exportRun } from '../../src/jobs/export/record.ts';
import { homeData } from '../../src/jobs/home/job.ts';
import { linkRun } from '../../src/jobs/link/record.ts';
import { welcomeRun } from '../../src/jobs/welcome/record.ts';
import { entrySchema } from '../../src/store/audit.ts';
import { deliveryFields, wantedMessage } from '../../src/store/messages.ts';

/** Records with a version, which are read, changed and saved as a whole: an older process would drop new fields. */
export const versioned = {
  export: exportRun,
  link: linkRun,
  'agent-thread': threadRun,
  'agent-watch': watchRun,
  'agent-mention': mentionRun,
  digest: editionRun,
  'digest-figures': figuresRun,
  'digest-ask': askRun,
  'digest-schedule': scheduleRun,
  welcome: welcomeRun,
};

/** What is written once and never saved again, or field by field: it may get new kinds and new optional fields. */
export const growing = {
  'inbox entry': threadEvent,
  // Published as a whole each time.
  message: wantedMessage,
  'delivery of a message': deliveryFields,
  'listed thread': listedThread,
  'audit line': entrySchema,
  'job data of home': homeData,
};

/** The shape of what is kept, as JSON Schema. */
export const shapeOf = (schema: z.ZodType): Shape =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape;

export interface Shape {
  properties?: Record<string, Shape & { maximum?: number }>;
  required?: string[];
  enum?: unknown[];
  anyOf?: Shape[];
  oneOf?: Shape[];
  [keyword: string]: unknown;
}

/** The version that is written; nothing for what has none. */
export const versionIn = ({ properties }: Shape): number | undefined => properties?.v?.maximum;

/** The shape beside the version. */
const withoutVersion = ({ properties: { v: _, ...others } = {}, ...rest }: Shape): Shape => ({
  ...rest,
  properties: others,
});

/** Whether a record of this shape was changed though its version is still the released one. */
export function changedUnversioned(released: Shape, current: Shape, releasedVersion: number): boolean {
  if (versionIn(current) !== releasedVersion) return false;
  return JSON.stringify(withoutVersion(released)) !== JSON.stringify(withoutVersion(current));
}

const hasGrownValues = (released: unknown[] | undefined, current: unknown[] | undefined) =>
  released === undefined || current === undefined
    ? released === current
    : released.every((value) => current.includes(value));

/** Whether everything that has the released shape also has this one, which may know more. */
export function hasGrown(released: Shape, current: Shape): boolean {
  const { properties: were = {}, required: needed = [], enum: values, anyOf, oneOf, ...was } = released;
  const {
    properties: are = {},
    required: needs = [],
    enum: valuesNow,
    anyOf: anyNow,
    oneOf: oneNow,
    ...is
  } = current;
  const options = anyOf ?? oneOf ?? [];
  const optionsNow = anyNow ?? oneNow ?? [];
  return (
    JSON.stringify(was) === JSON.stringify(is) &&
    JSON.stringify(needed) === JSON.stringify(needs) &&
    hasGrownValues(values, valuesNow) &&
    Object.entries(were).every(([name, shape]) => are[name] !== undefined && hasGrown(shape, are[name])) &&
    options.every((option, index) => optionsNow[index] !== undefined && hasGrown(option, optionsNow[index]))
  );
}
