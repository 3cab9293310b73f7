import { keyIdOf } from '../../docs-api/client.ts';
import type { DocsApiError } from '../../docs-api/errors.ts';
import { FORBIDDEN_CAUSES } from '../../docs-api/problems.ts';
import type { Project } from '../../projects.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import type { RejectedKeyStore } from '../../store/alerts.ts';
import { type AdminAlertParts, createAdminAlert } from './admin-alert.ts';
import { forbiddenAlertMessage, keyAlertMessage, type RejectedKey } from './key-alert-view.ts';

export interface KeyAlertParts extends AdminAlertParts {
  projects: readonly KeyOwner[];
  rejectedKeys: Pick<RejectedKeyStore, 'reject'>;
  /** Returns the waiting work of these projects, such as "3 exports wait"; empty if none. */
  waits: (teamId: string, projects: readonly string[]) => Promise<string>;
}

/**
 * Alerts the admins by direct message, at most once an hour per key: the platform rejects a project's key, or forbids a
 * request (403) with `error`. Returns whether there are any admins.
 */
export function createKeyAlert({ projects, rejectedKeys, waits, ...parts }: KeyAlertParts) {
  const alertAdmins = createAdminAlert(parts);

  return async (teamId: string, project: string, error?: DocsApiError): Promise<boolean> => {
    const owner = projects.find(({ name }) => name === project);
    const keyId = keyIdOf(owner ?? { apiKey: '' });
    const { variable, isFile, names } = keyOf(projects.filter((one) => keyIdOf(one) === keyId));
    const shown = { variable, isFile, names: projects.length > 1 ? names : [] };
    if (error?.kind === 'forbidden')
      return alertAdmins(teamId, {
        name: `forbidden:${teamId}:${variable}`,
        messageKeyPrefix: `key-forbidden.${variable}`,
        message: forbiddenAlertMessage(shown, error.platformMessage, FORBIDDEN_CAUSES),
      });
    const sinceMs = await rejectedKeys.reject(keyId, parts.now());
    return alertAdmins(teamId, {
      name: `key:${teamId}:${variable}`,
      messageKeyPrefix: `key-rejected.${variable}`,
      waits: () => waits(teamId, names),
      message: (waiting) => keyAlertMessage({ ...shown, sinceMs, waiting }),
    });
  };
}

/** Returns the setting and the projects of a shared key. */
export function keyOf(sharing: readonly KeyOwner[]) {
  const [first] = sharing;
  const variable = first?.apiKeyVariable ?? 'The API key';
  return { variable, isFile: first?.apiKeyFile !== undefined, names: sharing.map(({ name }) => name) };
}

type KeyOwner = Pick<Project, 'name' | 'apiKey' | 'apiKeyVariable' | 'apiKeyFile'>;

/** Maximum time for counting the waiting work, which delays the alert. */
const WAITS_MS = 400;

/** Returns those keys of these projects that the platform rejects. */
export async function findRejectedKeys(
  projects: readonly KeyOwner[],
  since: RejectedKeyStore['since'],
  waits: (projects: readonly string[]) => Promise<string>,
): Promise<RejectedKey[]> {
  const keys = [...Map.groupBy(projects, keyIdOf)];
  const found = await since(keys.map(([keyId]) => keyId));
  const rejected = keys.flatMap(([, sharing], index) => {
    const sinceMs = found[index];
    return sinceMs === undefined ? [] : [{ ...keyOf(sharing), sinceMs }];
  });
  return Promise.all(
    rejected.map(async (key) => ({
      ...key,
      names: keys.length > 1 ? key.names : [],
      waiting: await withTimeout(WAITS_MS, waits(key.names)).catch(() => ''),
    })),
  );
}
