import { readConfigFile } from '../../../src/config/file.ts';

/** The variables that a file may name in these tests. */
export const env = {
  DOCS_API_KEY: 'adm_default',
  ACME_DOCS_API_KEY: 'adm_acme',
  DOCS_API_KEY_PREFIX: 'adm_',
};

/** What `docket.yml` with this text says, and what is wrong with it. */
export const read = (text: string, variables: Record<string, string> = env) =>
  readConfigFile(text, 'docket.yml', variables);

export const problemsIn = (text: string, variables?: Record<string, string>) =>
  read(text, variables).problems;

/** A project with this in it. */
export const inProject = (line: string) => `projects:\n  acme:\n    ${line}\n`;
