// node scripts/count-tests.mjs REPORT: prints "N passed, N failed" from vitest's JSON report; fails when nothing ran.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
// A file that could not be loaded has no tests that could fail, so it counts as one failure.
const broken = report.testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
).length;
const failed = report.numFailedTests + broken;

console.log(`${report.numPassedTests} passed, ${failed} failed`);
if (report.numPassedTests + failed === 0) process.exitCode = 1;
