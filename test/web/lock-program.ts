import { DatabaseSync } from 'node:sqlite'

// Keeps the write lock of a store until standard input ends.
const db = new DatabaseSync(process.argv[2] as string)
db.exec('BEGIN IMMEDIATE')
process.stdin.resume().on('end', () => {
  db.exec('ROLLBACK')
  db.close()
})
console.log('locked')
