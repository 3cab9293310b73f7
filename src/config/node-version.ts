import { nodeProblem } from './node-problem.ts';

// Imported before all else: under an older Node, other modules would fail with errors that name no fix.
const problem = nodeProblem(process.version);
if (problem !== undefined) {
  console.error(problem);
  process.exit(1);
}
