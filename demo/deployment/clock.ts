// Loaded before the receiver: its clock follows the one of the stand-in.
const realNow = Date.now;
let aheadMs = 0;
Date.now = () => realNow() + aheadMs;

process.on('message', (message: { aheadMs: number }) => {
  aheadMs = message.aheadMs;
  process.send?.(message);
});
// The process that started it has ended.
process.on('disconnect', () => process.exit());
