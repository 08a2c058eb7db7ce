import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { ProgressBar } from './progress-bar.ts'

function aTerminal(env: Readonly<Record<string, string>> = {}) {
  let time = 0
  let text = ''
  const stream = new Writable({
    decodeStrings: false,
    write: (part: string, _encoding, done) => {
      text = part
      done()
    },
  })
  return {
    bar: new ProgressBar(Object.assign(stream, { isTTY: true, columns: 100 }), env, { clock: () => time }),
    pass: (ms: number) => {
      time += ms
    },
    shown: () => text,
  }
}

describe('a progress bar', () => {
  it('shows the remaining time after two seconds of work', () => {
    const { bar, pass, shown } = aTerminal()

    bar.show('pack', 0, 100)
    pass(1_000)
    bar.show('pack', 10, 100)
    const early = shown()
    pass(1_000)
    bar.show('pack', 20, 100)

    expect(early).not.toContain('left')
    expect(shown()).toContain('20/100 pack, 8 s left')
  })

  it('measures the speed since a run was resumed, and separately for other work', () => {
    const { bar, pass, shown } = aTerminal()

    bar.show('pack', 90, 100)
    pass(5_000)
    bar.show('pack', 95, 100)
    expect(shown()).toContain('5 s left')

    bar.show('other', 1, 7_000)
    pass(10_000)
    bar.show('other', 11, 7_000)
    expect(shown()).toContain('1 h 57 min left')
  })

  it('draws nothing in CI', () => {
    const { bar, pass, shown } = aTerminal({ CI: 'true' })

    bar.show('pack', 0, 10)
    pass(5_000)
    bar.show('pack', 5, 10)

    expect(shown()).toBe('')
  })
})
