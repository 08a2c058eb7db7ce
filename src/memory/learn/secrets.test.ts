import { describe, expect, it } from 'vitest'
import { secretIn } from './secrets.ts'

describe('what is a secret', () => {
  it.each([
    'the key is sk-proj-4f9aT2kLmQ8xZ7',
    'use AKIAIOSFODNN7EXAMPLE for the bucket',
    'token: ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    '-----BEGIN OPENSSH PRIVATE KEY-----',
    'postgres://admin:hunter2@db.example/app',
    'Authorization: Bearer abcdef0123456789abcdef',
    'my password is Tr0ub4dor&3',
    'password: correct-horse-9',
    'The wifi password is hunter2xx',
    'my card number is 4111 1111 1111 1111',
    '5500-0000-0000-0004 is my card',
    'my PIN is 4711',
    'my SSN is 078-05-1120',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N',
    'our seed phrase is witch collapse practice feed',
  ])('%s', (text) => {
    expect(secretIn(text)).not.toBeNull()
  })
})

describe('what is none', () => {
  it.each([
    'our code phrase is "purple elephant sunrise"',
    'the safe word is marmalade',
    'the password is stored in the vault',
    'the token is refreshed every hour',
    'we keep passwords in Bitwarden',
    'the door code is 4711',
    'my order number is 4029357733',
    'call me on 0161 496 0000',
    'the launch is on 2026-03-14',
    'ISBN 978-3-16-148410-0',
    'my mentor is Dr. Elena Vasquez from Stanford',
    'the API key is kept by Ana',
    'my pin board is full',
  ])('%s', (text) => {
    expect(secretIn(text)).toBeNull()
  })
})
