import { describe, expect, it } from 'vitest'
import { inventedIn, knownText } from './invented.ts'

const known = knownText([
  'My favorite language is Rust. I have been learning it since January 15, 2024. My mentor is Dr. Elena Vasquez from Stanford. The project is "NeonDB", a distributed key-value store. Our code phrase is "purple elephant sunrise".',
  'What is my favorite language? When did I start learning it? Who is my mentor, and where from? What is the project called?',
  'memory/MEMORY.md',
  'desk 3A, color #0F6B5C, port 8080',
])

describe('nothing is invented in', () => {
  it.each([
    'Here are the answers from memory/MEMORY.md:\n\n1. **Favorite language:** Rust\n2. **Start Date:** January 15, 2024\n3. **Mentor Name & Affiliation:** Dr. Elena Vasquez from Stanford\n4. **Project:** NeonDB – a distributed key-value store\n5. **Team Code Phrase:** "purple elephant sunrise"\n\nAll 5 facts were recalled.',
    '## Recalled Information\n\nYour favorite language is Rust, and you have been learning it since 2024-01-15.',
    "Based on the file, you're learning Rust. Elena Vasquez is your mentor. She is at Stanford.",
    'I read `memory/MEMORY.md`. You started on the 15th of January 2024.',
    'You began in January 2024.',
    'The desk is 3A, the color #0F6B5C and the port 8,080.',
    'I do not know that.',
    '',
  ])('%s', (answer) => {
    expect(inventedIn(answer, known)).toEqual([])
  })
})

describe('something is invented in', () => {
  it.each([
    ['Your favorite language is Python.', ['Python']],
    ['You have been learning it since January 16, 2024.', ['January 16, 2024']],
    ['You began in March 2024.', ['March 2024']],
    ['Your mentor is Dr. Elena Vasquez from Berkeley.', ['Berkeley']],
    ['The phrase is "green elephant sunset".', ['green elephant sunset']],
    ['It has 42 users.', ['42']],
    ['- Mentor: Dr. Maria Kowalska', ['Maria', 'Kowalska']],
    ['Vasqez is the mentor.', ['Vasqez']],
    ['The desk is 3B, the color #0F6B5D.', ['3B', '0F6B5D']],
    ['The project is CrowDB.', ['CrowDB']],
  ])('%s', (answer, expected) => {
    expect(inventedIn(answer, known)).toEqual(expected)
  })
})
