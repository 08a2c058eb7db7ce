const wordsOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/u))

/** People whom somebody has one of: another one takes the place of the one before. */
export const oneOfAKind =
  wordsOf(`mother mom mum father dad wife husband spouse partner girlfriend boyfriend fiance fiancee fiancé
  fiancée boss manager supervisor mentor landlord landlady roommate flatmate therapist doctor dentist gp physician lawyer
  attorney solicitor accountant advisor adviser coach trainer tutor midwife vet agent editor assistant stepmother stepfather
  mother-in-law father-in-law godmother godfather best-friend line-manager cto ceo coo cfo principal headmaster
  headteacher paediatrician pediatrician optician hairdresser barber mechanic cleaner nanny babysitter`)

/** People and animals of whom somebody may have several. */
export const several =
  wordsOf(`brother sister son daughter child kid baby friend cousin aunt uncle niece nephew grandmother
  grandfather grandma grandpa nan granny grandson granddaughter colleague coworker co-worker teammate neighbour neighbor
  client customer patient student teacher pupil employee intern cat dog pet horse hamster parrot rabbit goldfish puppy kitten
  stepbrother stepsister brother-in-law sister-in-law godson goddaughter classmate bandmate supplier twin investor`)

export const isPerson = (noun: string): boolean => oneOfAKind.has(noun) || several.has(noun)

/** Things with many sides: "my car is blue" says nothing against "my car is a Volvo". */
export const things =
  wordsOf(`car bike bicycle van truck motorbike boat house flat apartment home room office garden kitchen
  laptop computer phone desk chair camera guitar piano violin team family company startup firm school class band body leg arm
  hand knee back eye eyes hair skin heart stomach foot shoulder neck ear ears wrist ankle hip job work project app website blog
  book city town country village street shop store restaurant bakery cafe server database`)

/** What a job is called, where the ending does not tell. */
export const professions =
  wordsOf(`nurse doctor chef cook lawyer solicitor barrister judge surgeon vet dentist architect engineer
  teacher professor student pilot farmer baker butcher plumber electrician carpenter programmer developer designer
  musician composer violinist pianist guitarist drummer singer conductor painter sculptor photographer writer author editor
  journalist translator librarian accountant auditor banker broker trader salesperson salesman saleswoman manager founder
  consultant analyst scientist physicist chemist biologist mathematician economist historian therapist psychologist
  psychiatrist physiotherapist midwife paramedic firefighter soldier officer policeman policewoman postman driver captain
  sailor astronaut athlete coach trainer barista bartender waiter waitress receptionist secretary paralegal realtor
  hairdresser barber tailor gardener florist mechanic welder builder mason roofer logger fisherman beekeeper winemaker
  brewer sommelier actor actress dancer director producer freelancer entrepreneur investor recruiter pharmacist optician
  radiologist anaesthetist anesthesiologist cardiologist oncologist paediatrician pediatrician gp intern apprentice postdoc
  researcher lecturer tutor nanny cleaner caretaker tech technician rep clerk cashier magistrate notary diplomat priest vicar rabbi imam monk`)

export const isProfession = (noun: string): boolean =>
  professions.has(noun) ||
  /(?:ologist|ician|grapher|monger|smith|wright|keeper|maker|worker|engineer|inspector|instructor|operator|coordinator|administrator|adviser|advisor|specialist|assistant|planner|organi[sz]er|restorer|curator|archivist|illustrator|animator)$/u.test(
    noun,
  )

/**
 * Words that are in too many messages to recall anything by. One of them may be part of a form, but is none by itself.
 */
export const everyday =
  wordsOf(`name names date dates day days time times thing things stuff people person man woman way ways one ones
  lot lots number numbers place places fact facts info information note notes item items list lists message messages question
  questions answer answers today tomorrow yesterday week weeks month months year years morning evening night weekend hour hours
  minute minutes moment part parts kind kinds sort type types bit end start beginning side case cases point points reason
  reasons problem problems issue issues idea ideas example examples change changes work works job life world home house
  something anything nothing everything someone anyone everyone somebody anybody everybody all any some many much more most
  other others another same such own next last first second third new old good bad best better great nice big small long
  short high low right left left-hand real true false sure able only also just really very too well still again ever never
  always often usually sometimes currently now then here there this that these those it its he she they them him her his
  hers their theirs i me my mine we us our ours you your yours who whom whose which what when where why how and or but not
  no yes for from with without into onto of to in on at by as about after before during until since through over under
  between against across because if else than so up down out off away back use used using set get got go going make made
  take keep put let see say said tell ask help need want like love hate prefer think know mean feel try look give call
  called named come do does did done be is are was were been being have has had can could will would should may might must
  file files folder code text word words line lines page pages data value values key keys option options setting settings
  version order group member members level step steps task tasks plan plans test tests system way size amount total rest
  detail details update updates result results thought thoughts topic topics subject purpose goal goals title email mail
  phone link links sake person's main favorite favourite preferred current default usual typical special important
  specific certain different possible general common simple quick easy hard free full half whole few several each every mg mcg ml kg km cm gb mb pcs quid euro euros
  both either neither once twice today's please thanks hello`)

/** Words that say nothing about what a noun is: left out when a form is made shorter. */
export const emptyModifiers =
  wordsOf(`favorite favourite preferred current main new old own personal default usual new-ish present
  latest first last next little big great really very absolute all-time current team's primary`)
