import type { Subject } from '../../system/subject.ts'
import type { Answer } from '../../system/system.ts'
import { defineKind, type Kind } from '../kind.ts'
import { carryOutRecall } from './carry-out.ts'
import { contentOf, readFolder } from './read-folder.ts'

const emptyContext: Answer = { prelude: null, pinned: [], relevant: [], questions: [] }

const answering = (subject: Subject, change: (answer: Answer) => Answer): Subject => ({
  ...subject,
  answer: async (query, expect) => {
    const { value, ms } = await subject.answer(query, expect)
    return { value: change(value), ms }
  },
})

/** The kinds of pack that ask a memory what belongs to a message: case by case, turn by turn, and to choose settings on. */
export const recallKinds = (open: (system: string) => Promise<Subject>): readonly Kind[] =>
  ['retrieval', 'session', 'calibration'].map((name) =>
    defineKind({
      name,
      defaultSystem: 'bm25',
      read: (place) => contentOf(readFolder(place).pack),
      open,
      ablate: {
        'recall off': (subject) => answering(subject, () => emptyContext),
        'search off': (subject) => answering(subject, (answer) => ({ ...answer, relevant: [] })),
      },
      carryOut: ({ pack }, subject, request, { explain, onIngested }) =>
        carryOutRecall(pack, subject, request, { explains: () => explain, onIngested }),
    }),
  )
