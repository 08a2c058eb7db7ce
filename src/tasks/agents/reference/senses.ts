import { isDerivedFrom } from './derived.ts'
import { stem } from './stem.ts'

// What people ask with one word and tell with another: "How much do I charge?" of "my rate is …". Each line is one sense
// of everyday English. The words do not mean the same, so a statement is not found by such a word alone when another one
// has the word itself. A word may have several senses.
const lines = `
  price cost sell charge fee rate pay paid payment earn salary wage rent budget spend money quid euro dollar pound amount sum total bill invoice expensive worth afford owe
  phone telephone call ring reach contact number mobile tel dial text speak talk
  email mail address write reach contact
  age birthday born birth
  live reside home address house apartment move
  live neighbor neighbour resident tenant
  sleep stay night overnight hotel hostel lodging accommodation room book bed
  fly flight leave depart departure airport plane gate
  trip travel journey tour go holiday destination
  return arrive home
  drive car vehicle van ride bike
  work job boss manager employer employ employee company living profession supervisor
  supply supplier provide provider deliver delivery source vendor come get order
  lead run manage head charge responsible chair direct organize boss
  judge preside court hearing
  headmistress headmaster principal head
  lawyer counsel attorney solicitor barrister advocate defend
  represent client
  oppose opposing against opponent
  guide mentor teach tutor coach advise train instruct supervise learn
  learn study lesson course class train practice teach
  allergy intolerant tolerate dangerous avoid eat react
  medicine medication drug tablet pill dose prescription
  food cuisine cook dish eat meal diet
  prefer favorite like love best most popular bestseller rather
  close shut end finish
  open start begin
  begin first start since early
  last final end late
  book bookkeeping account accountant accounting bookkeeper
  rent pay landlord landlady lease tenant tenancy
  build make develop project app create design write craft
  code program programming software language develop
  park leave put stand keep
  mark grade score exam test
  due deadline until submit hand deliver
  pupil student child class
  quota target goal aim objective
  low lowest minimum least floor bottom
  high highest maximum most ceiling top limit
  watch look mind sit care
  afraid fear scare phobia
  organize arrange rent book hire plan
  meet appointment see visit
  play instrument sport game team
  play perform gig concert show
  ride bike horse
  drink coffee tea beverage
  speak language
  marry wedding anniversary spouse
  password passphrase code pin phrase word secret key
  nickname address call name
  size measure fit
  weigh kilo kg pound
  tall height centimeter cm
  doctor gp surgery practice physician
  key lock open door unlock
  repair fix mend mechanic
  own belong possess
  send post ship deliver mail
  wear clothes size
  read book novel author
  watch film series show
  title call name`

const sensesOfWord = new Map<string, readonly number[]>()
for (const [sense, line] of lines.trim().split('\n').entries()) {
  for (const word of new Set(line.trim().split(/\s+/u).map(stem))) {
    sensesOfWord.set(word, [...(sensesOfWord.get(word) ?? []), sense])
  }
}

const sensesOf = (word: string): readonly number[] => sensesOfWord.get(stem(word)) ?? []

/** Whether one word may be asked with where the other one was told. */
export const shareSense = (one: string, other: string): boolean => {
  const senses = sensesOf(one)
  return senses.length > 0 && sensesOf(other).some((sense) => senses.includes(sense))
}

/** Whether a word of a question and one of a statement are of one family: "teaches" and "teacher", "hour" and "hourly". */
export const areOneFamily = (one: string, other: string): boolean =>
  isDerivedFrom(stem(one), stem(other)) || isDerivedFrom(stem(other), stem(one))
