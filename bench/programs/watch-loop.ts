// Preloaded into a program: at exit, writes the delay of its event loop, in milliseconds, to a file.
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const file = process.env.BENCH_LOOP_FILE
if (file !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  // Starts at a signal, so that start-up does not count.
  process.on('SIGUSR2', () => {
    delay.reset()
    delay.enable()
  })
  process.on('exit', () => {
    writeFileSync(file, JSON.stringify({ p99Ms: delay.percentile(99) / 1e6, longestMs: delay.max / 1e6 }))
  })
}
