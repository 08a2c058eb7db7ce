import type { Edited } from '../memory/change/edit.ts'
import { called } from './describe-belief.ts'
import { harmless, type Style } from './output.ts'

/** What became of an edit: done, not needed, or waiting for somebody with more authority. */
export function editedText({ outcome, belief }: Edited, done: string, unchanged: string, style: Style): string {
  switch (outcome) {
    case 'edited':
      return `${style.green(done)}: ${called(belief)}.`
    case 'unchanged':
      return `${unchanged}: ${called(belief)}.`
    case 'proposed':
      return [
        `${style.yellow('Proposed')} ${called(belief)}: someone with more authority has to decide.`,
        `  A person decides with: credence proposals accept ${harmless(belief.id)}`,
      ].join('\n')
  }
}
