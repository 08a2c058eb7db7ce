import { describe, expect, it } from 'vitest'
import { readNotes } from './read-notes.ts'

const notes = (text: string, file = 'notes.md') =>
  readNotes(file, text, (id) => id === 'b-known').map(({ text: said, handles }) => [said, ...handles])

describe('notes', () => {
  it('are statements under their headings', () => {
    expect(notes('# Team\n\n## Dana\n- email: dana@x.example\n- **Phone**: 12\nShe is new. She likes tea.\n')).toEqual([
      ['email: dana@x.example', 'Team', 'Dana'],
      ['Phone: 12', 'Phone', 'Team', 'Dana'],
      ['She is new.', 'Team', 'Dana'],
      ['She likes tea.', 'Team', 'Dana'],
    ])
  })

  it('leave out what the memory knows already, and what explains its file', () => {
    const file = [
      '# Memory',
      '',
      'Explains itself.',
      '',
      '<!-- credence:mirror 3 -->',
      '',
      '- **tea**: mint <!-- credence:b-known -->',
      '  - aliases: drink',
      '- **car**: a Skoda <!-- credence:b-other -->',
      '- by hand: new',
      '<!-- a remark -->',
    ].join('\n')

    expect(notes(file).map(([text]) => text)).toEqual(['car: a Skoda', 'by hand: new'])
  })

  it('may be JSON', () => {
    expect(notes('{"theme":"dark","ports":{"http":[80]}}', 'p.json')).toEqual([
      ['theme: dark', 'theme'],
      ['ports http: 80', 'ports http'],
    ])
    expect(notes('{', 'p.json')).toEqual([])
  })
})
