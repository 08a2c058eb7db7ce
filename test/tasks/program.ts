import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes an executable JavaScript program and returns its path. */
export function program(folder: string, name: string, source: string): string {
  const path = join(folder, name)
  writeFileSync(path, `#!${process.execPath}\n${source}\n`)
  chmodSync(path, 0o755)
  return path
}

/** A program that starts a child that ignores SIGTERM, and writes the child's id to `stubborn.pid`. */
export const startsStubbornChild = `
const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
spawn(process.execPath, ['-e', "process.on('SIGTERM', () => {}); require('node:fs').writeFileSync('stubborn.pid', String(process.pid)); setInterval(() => {}, 1000)"], { stdio: 'inherit' })
const whenThere = (then) => existsSync('stubborn.pid') ? then() : setTimeout(() => whenThere(then), 5)
`

/** A zombie process counts as ended. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const status = `/proc/${pid}/status`
  return !existsSync(status) || !/^State:\s+Z/mu.test(readFileSync(status, 'utf8'))
}
