// Loaded before a program: writes how late its event loop was, in milliseconds, to a file when it ends.
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const file = process.env.BENCH_LOOP_FILE
if (file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  // From when it is told to, so that starting up does not count.
  process.on('SIGUSR2', () => {
    delay.reset()
    delay.enable()
  })
  process.on('exit', () => {
    writeFileSync(file, JSON.stringify({ p99Ms: delay.percentile(99) / 1e6, longestMs: delay.max / 1e6 }))
  })
}
