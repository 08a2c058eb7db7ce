const wordsOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/u))

/** First names that are words as well. */
export const givenNames =
  wordsOf(`alma amber angel april art august autumn bill bob bonnie buck candy carol carter cat charity chase
  cherry chuck clay cliff cooper crystal daisy dale dawn dean destiny dick don dot drew duke earl eve faith fay fern flora frank
  gay gene ginger glen gloria grace grant guy hank harmony harry hazel heather holly honey hope hunter iris ivy jack jade jay
  jean jerry jimmy john jordan josh joy june kay kelly ken kit kitty lance lee leo lily lou luke mac mark mason matt max may
  melody mercy mike miles morgan nick norm olive otto pam parker pat patience patsy pearl peg penny peter pip poppy prudence
  ralph randy ray reed rex rich rob robin rod roger roman rose rosemary ruby rusty ruth sally sam sandy savannah scarlet sky
  sterling stone sue summer sunny tab tad ted terry tiffany tom tony trey van vera vic victor viola violet wade ward warren
  wendy will willow woody`)

/** First names that a list of English words has as well, although hardly anybody means a word by them. */
const namesOnly =
  wordsOf(`aaron abigail adam adrian alan albert alex alexander alfred alice alison amanda amelia amy andrea andreas andrew
  angela anna anne anthony antonio ariel arthur ashley austin barbara ben benjamin bernard beth betty billy bobby brad
  brandon brenda brian bruce bryan cameron carl carla carlos carmen caroline catherine charles charlotte chloe chris
  christina christine christopher claire clara colin connor craig cynthia daniel danielle david deborah denise dennis
  diana diane diego dominic donald donna dorothy douglas duncan dylan edgar edward eleanor elena eli elizabeth ella
  ellen emily emma eric erik ethan eva evan evelyn fatima felix fiona frances francis francisco fred gabriel gary gavin
  george gerald gordon graham greg gregory hannah harold harriet hector helen henry howard hugh hugo ian irene isaac
  isabel isabella ivan jacob jake james jamie jane janet jason javier jeff jeffrey jennifer jeremy jesse jessica jill
  jim joan joanna joe joel jonathan jorge jose joseph joshua joyce juan judith judy julia julian julie justin karen karl
  kate katherine kathleen keith kenneth kevin kim kimberly kyle larry laura lauren lawrence leah leon leonard leslie
  lewis liam linda lisa lloyd logan louis louise lucas lucia lucy luis lydia malcolm marc marcus margaret maria marie
  mario marion marta martha martin marvin mary matthew maurice megan melanie melissa mia michael michelle miguel miriam
  mohammed monica nancy naomi natalie natasha nathan neil nicholas nicole nina noah noel nora norman oliver olivia omar
  oscar owen pablo pamela patricia patrick paul paula pedro philip phillip phoebe rachel raymond rebecca richard rita
  robert roberta rodrigo roland ronald rosa rosie ross roy russell ryan samantha samuel sandra sara sarah scott sean
  sebastian sergio shannon sharon shirley simon sofia sonia sophia sophie spencer stacy stella stephanie stephen steve
  steven stuart susan suzanne sylvia teresa theo theresa thomas tim timothy tina tracy trevor valerie vanessa veronica
  vincent walter wesley william yvonne zoe`)

/** Whether a word is a first name and hardly ever anything else. A word that begins a sentence is no word then. */
export const isFirstName = (word: string): boolean => namesOnly.has(word.toLowerCase())
