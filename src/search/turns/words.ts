/** Words that say how a sentence is built and nothing about its topic. They are not indexed. */
export const stopWords: ReadonlySet<string> = new Set(
  `a about after again all also am an and any are as at be been before being both but by can cant could couldnt did didnt
  do does doesnt don done dont during each etc few for from had has have he her here hes hey hi him his how i id if ill im
  in into is isnt it its ive just let lets may me might mine more most must my no not now of oh ok okay on once or other
  our over own really s same shall she shes should so some such t than that thats the their them then there these they
  theyre this to too under us very was wasnt we were what when where which who whom whose why will with wont would wow
  yeah you your youre youve`.split(/\s+/u),
)

/** Words of asking ("do you recall how many …"). They stand in many questions and say little about what is asked for. */
export const askingWords: readonly string[] =
  `able advice ago amount ask asked average back chat check combined conversation current currently day days discuss
  discussed discussing earlier exactly first follow following gave get give go going got help idea ideas initially kind
  know last lately list long look looking many mention mentioned month months much name need next number often old order
  past percentage please previous previously provide provided question recall recent recently recommend recommendation
  recommendations remember remind reminded said say sort specific suggest suggestion suggestions take taken talk talked
  tell think thinking thought time times tip tips today together told took total type want week weeks wonder wondering
  year years yesterday`.split(/\s+/u)

/** Irregular forms of common words, and everyday pairs that mean one thing, each with the word it counts as. */
const irregularForms: ReadonlyMap<string, string> = new Map(
  `went>go gone>go goes>go bought>buy took>take taken>take gave>give given>give got>get gotten>get made>make saw>see
  seen>see met>meet found>find lost>lose won>win began>begin begun>begin wrote>write written>write ran>run ate>eat
  eaten>eat drank>drink drunk>drink drove>drive driven>drive rode>ride ridden>ride flew>fly flown>fly swam>swim swum>swim
  sang>sing sung>sing spoke>speak spoken>speak broke>break broken>break chose>choose chosen>choose wore>wear worn>wear
  tore>tear torn>tear grew>grow grown>grow knew>know known>know threw>throw thrown>throw drew>draw drawn>draw shown>show
  taught>teach thought>think brought>bring caught>catch fought>fight sought>seek sold>sell told>tell said>say paid>pay
  left>leave felt>feel kept>keep slept>sleep swept>sweep sent>send spent>spend lent>lend built>build held>hold
  stood>stand understood>understand sat>sit heard>hear led>lead fed>feed came>come became>become fell>fall fallen>fall
  forgot>forget forgotten>forget forgave>forgive forgiven>forgive hid>hide hidden>hide bit>bite bitten>bite shot>shoot
  lit>light stole>steal stolen>steal woke>wake woken>wake rose>rise risen>rise laid>lay lain>lie meant>mean
  dreamt>dream learnt>learn hung>hang stuck>stick struck>strike swung>swing shook>shake shaken>shake dug>dig men>man
  women>woman people>person wives>wife lives>life feet>foot teeth>tooth mice>mouse children>child kid>child kids>child
  photograph>photo picture>photo pictures>photo pic>photo pics>photo mother>mom mum>mom father>dad television>tv film>movie
  films>movie`
    .split(/\s+/u)
    .map((pair) => pair.split('>') as [string, string]),
)

export const baseForm = (word: string): string => irregularForms.get(word) ?? word
