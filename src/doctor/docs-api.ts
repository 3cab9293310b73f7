import { connectionProblem } from '../docs-api/connection-problem.ts';
import { FORBIDDEN_CAUSES } from '../docs-api/report.ts';
import type { Project } from '../projects.ts';
import type { Check } from './check.ts';
import type { HttpAnswer } from './http.ts';
import { notChecked, type Outcome, ok, warning, worstOf, wrong } from './outcome.ts';
import type { DocsAnswer } from './probes.ts';

/** How a key is named where there are several. */
const keyOf = ({ name, apiKeyVariable }: Project) => `${apiKeyVariable} (project ${name})`;

/** Returns whether the platform's API answered: errors of its API say what is wrong as JSON. */
function isPlatform(answer: HttpAnswer): boolean {
  if (answer.is === 'none') return false;
  const { status, body } = answer;
  if ([401, 403, 429].includes(status)) return true;
  if (typeof body !== 'object' || body === null || status >= 500) return false;
  return status < 300 || (status >= 400 && 'error' in body);
}

const isKeyAccepted = (answer: HttpAnswer) =>
  isPlatform(answer) && answer.is === 'answer' && answer.status !== 401;

function judgeReachable(answers: readonly DocsAnswer[]): Outcome {
  return worstOf(answers.map(({ answer }) => judgeAddress(answer)));
}

function judgeAddress(answer: HttpAnswer): Outcome {
  if (answer.is === 'none')
    return wrong(
      connectionProblem(answer.why, 'DOCS_API_URL') ??
        `The docs platform does not answer at DOCS_API_URL (${answer.why}). Check the address, and the network of this machine.`,
    );
  return isPlatform(answer)
    ? ok('The docs platform answers at DOCS_API_URL.')
    : wrong(
        `DOCS_API_URL does not answer as the platform's API does (${answer.status}). Set it to the base address of the API, without /v1 or /v2. If it is right, ask the platform's support.`,
      );
}

function judgeKeys(answers: readonly DocsAnswer[]): Outcome {
  return worstOf(
    answers.map(({ project, answer }) => {
      if (answer.is === 'answer' && answer.status === 401)
        return wrong(
          `The platform rejects ${keyOf(project)}. Set a valid admin key from the API keys page of its dashboard.`,
        );
      if (!isKeyAccepted(answer)) return notChecked('The docs platform must answer first.');
      if (answer.is === 'answer' && answer.status === 403)
        return warning(
          `The platform accepts ${keyOf(project)} but forbids this request (403). ${FORBIDDEN_CAUSES}`,
        );
      return ok('The platform accepts each key.');
    }),
  );
}

function judgeProjects(answers: readonly DocsAnswer[]): Outcome {
  return worstOf(answers.map(judgeProject));
}

function judgeProject({ project, answer }: DocsAnswer): Outcome {
  const setting = project.domains === undefined ? 'DOCS_PROJECT_ID' : `projectId of project ${project.name}`;
  if (project.projectId === undefined)
    return warning(
      `${setting} is not set: exports work, the agent and digests do not. Copy the id from the API keys page of the dashboard.`,
    );
  if (!isKeyAccepted(answer) || answer.is === 'none')
    return notChecked('The docs platform must accept the key first.');
  if (answer.status === 404)
    return wrong(
      `The platform does not know ${setting}. Copy the id again from the API keys page of the dashboard.`,
    );
  return answer.status === 200
    ? ok('The platform knows each project.')
    : warning(`Could not check ${setting}: the platform answered ${answer.status}. Run this again later.`);
}

/** Whom to ask, and with which key. */
const ASKING = ['DOCS_API_URL', 'DOCS_API_KEY', 'DOCS_API_KEY_FILE', 'DOCS_API_KEY_PREFIX', 'DOCKET_CONFIG'];

export const docsChecks: Check[] = [
  {
    id: 'docs-key-form',
    title: 'Docs API key',
    reports: ['DOCS_API_KEY', 'DOCS_API_KEY_FILE', 'DOCS_API_KEY_EXPIRES', 'DOCS_API_KEY_PREFIX'],
    needs: ['DOCKET_CONFIG'],
    run: ({ settings }) =>
      ok(`${settings.projects.map(({ apiKeyVariable }) => apiKeyVariable).join(', ')} is set.`),
  },
  {
    id: 'docs-api',
    title: 'Docs platform',
    reports: ['DOCS_API_URL'],
    run: async ({ docs }) => judgeReachable(await docs()),
  },
  {
    id: 'docs-key',
    title: 'Docs API key accepted',
    needs: ASKING,
    run: async ({ docs }) => judgeKeys(await docs()),
  },
  {
    id: 'docs-project',
    title: 'Docs project',
    needs: [...ASKING, 'DOCS_PROJECT_ID'],
    run: async ({ docs }) => judgeProjects(await docs()),
  },
];
