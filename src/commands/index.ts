import { z } from 'zod';
import { agentCommands } from './agent/command.ts';
import { PROJECT_CALLBACK } from './command.ts';
import { deploymentCommands } from './deployment/buttons.ts';
import { digestCommands } from './digest/command.ts';
import { exportCommands } from './export/command.ts';
import { homeCommands } from './home/home.ts';
import { pullRequestCommands } from './pull-request/pull-request.ts';
import { defineModal, mergeRegistries, type Registry } from './registry.ts';
import { siteCommands } from './site/command.ts';
import { statusCommands } from './status/command.ts';
import { workspaceCommands } from './workspace/workspace.ts';

const features: Partial<Registry>[] = [
  exportCommands,
  deploymentCommands,
  agentCommands,
  pullRequestCommands,
  siteCommands,
  digestCommands,
  statusCommands,
  homeCommands,
  workspaceCommands,
];

const commands = features.flatMap((feature) => feature.commands ?? []);

/** The form that asks for a command's project: runs the command again. */
const projectModal = defineModal({
  callbackId: PROJECT_CALLBACK,
  may: 'status',
  about: z.object({ command: z.string(), text: z.string() }),
  async submit({ project = '' }, caller, tools, { about }) {
    const command = commands.find(({ name }) => name === about.command);
    await tools.requirePermission(command?.may ?? 'admin', '');
    const answer = await command?.run(`${about.text} --project ${project}`, caller, tools);
    return { kind: 'closed', answer };
  },
});

/** Everything that people can do, feature by feature. */
export const registry = mergeRegistries([...features, { modals: [projectModal] }]);
