import { agentCommands } from './agent/command.ts';
import { deploymentCommands } from './deployment/buttons.ts';
import { digestCommands } from './digest/command.ts';
import { exportCommands } from './export/command.ts';
import { homeCommands } from './home/home.ts';
import { mergeRegistries } from './registry.ts';
import { siteCommands } from './site/command.ts';
import { statusCommands } from './status/command.ts';
import { workspaceCommands } from './workspace/workspace.ts';

/** Everything that people can do, feature by feature. */
export const registry = mergeRegistries([
  exportCommands,
  deploymentCommands,
  agentCommands,
  siteCommands,
  digestCommands,
  statusCommands,
  homeCommands,
  workspaceCommands,
]);
