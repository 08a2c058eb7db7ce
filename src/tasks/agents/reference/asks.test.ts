import { describe, expect, it } from 'vitest'
import { asksOf } from './asks.ts'

const questions = (prompt: string): readonly string[] =>
  asksOf(prompt).flatMap((ask) => (ask.kind === 'question' ? [ask.text.replace(/[?.]+$/u, '')] : [`[${ask.kind}]`]))

describe('what a prompt asks', () => {
  it.each<[string, readonly string[]]>([
    ['What is my name?', ['What is my name']],
    [
      'what language am I learning, and what is my project called?',
      ['what language am I learning', 'what is my project called'],
    ],
    ['What is it called and what does it do?', ['What is it called', 'what does it do']],
    ['1. What is my tea?\n2. When did I start?', ['What is my tea', 'When did I start']],
    ['Tell me: 1) my name 2) my job', ['my name', 'my job']],
    ['Remind me of:\n- my name\n- the launch date', ['my name', 'the launch date']],
    ['Could you look there and tell me where I live?', ['where I live']],
    ['Going by `memory/MEMORY.md`: who is my dentist?', ['who is my dentist']],
    ["I'd also like to know which car I drive.", ['which car I drive']],
    ['Do you still remember my blood type?', ['my blood type']],
    ['Quick question: who is my boss again?', ['who is my boss again']],
    ['Read the file and tell me my name, please.', ['my name, please']],
    ['whats odettes number again', ["what's odettes number again"]],
    ['hi, cant think today\nwho plays bass\nhows the van doing', ['who plays bass', "how's the van doing"]],
    ['What do my notes say?\n\n1. Who is it?\n2. When?', ['Who is it', 'When']],
    ['what have you got in memory/MEMORY.md on these?\n- Who is it?', ['Who is it']],
    ['Have a look at notes.md and tell me:\n1. my name\n2. Where do I live?', ['my name', 'Where do I live']],
    ['Where is Tom?\n1. Who is it?', ['Where is Tom', 'Who is it']],
    ['我的猫叫什么？我住在哪里？', ['我的猫叫什么？', '我住在哪里？']],
  ])('%s', (prompt, expected) => {
    expect(questions(prompt)).toEqual(expected)
  })

  it.each([
    'My favorite language is Rust. I began on January 15, 2024.',
    'Please save this and tell me when it is in `memory/MEMORY.md`.',
    'Can you store this for me?',
    'Could you remember a few things about me for next time?',
    'What a day!',
    'Can you draft a short note for a customer?',
    'When I run, I listen to jazz.',
    'How are you?',
    'Please answer all five questions from the file.',
    'I need you to remember some things about me.',
    'Got it?',
    '```\nWhat is this?\n```',
  ])('is nothing in: %s', (prompt) => {
    expect(asksOf(prompt)).toEqual([])
  })

  it.each<[string, string | null]>([
    ['List what you remember.', null],
    ['What do you know about me?', null],
    ['List all the facts in memory/MEMORY.md.', null],
    ['What do my notes say?', null],
    ['Can you summarise what I told you?', null],
    ['Tell me everything you know about NeonDB.', 'NeonDB'],
    ['Summarise what you know about my maps.', 'my maps'],
  ])('is everything in: %s', (prompt, about) => {
    expect(asksOf(prompt)).toEqual([{ kind: 'everything', about }])
  })

  it.each([
    ['Please forget my address.', 'my address'],
    ['You can forget what I said about the loan.', 'the loan'],
  ])('is to forget something: %s', (prompt, about) => {
    expect(asksOf(prompt)).toEqual([{ kind: 'forget', about }])
  })

  it.each(['Remove the unused import.', "Don't forget my birthday."])('is not to forget anything: %s', (prompt) => {
    expect(asksOf(prompt).filter(({ kind }) => kind === 'forget')).toEqual([])
  })

  it('begins behind the name of the file it is to be looked up in', () => {
    expect(asksOf('From memory/MEMORY.md: who is my landlord?')).toMatchObject([{ text: 'who is my landlord?' }])
  })

  it('numbers the questions of one item alike', () => {
    expect(
      asksOf('- Who is it and why?\n- When?').flatMap((ask) => (ask.kind === 'question' ? [ask.place] : [])),
    ).toEqual([0, 0, 1])
  })

  it('keeps the numbers that were given', () => {
    expect(asksOf('3) Who?\n4) When?').flatMap((ask) => (ask.kind === 'question' ? [ask.label] : []))).toEqual([
      '3',
      '4',
    ])
  })
})
