import fc from 'fast-check'

// Times and expected days in tests are in UTC, whatever the time zone of the machine. A test about time zones sets its own.
process.env.TZ = 'UTC'

// Tests about vectors switch them on. In all others, no model is loaded in the background.
process.env.CREDENCE_SEMANTIC = 'off'

// One constant seed, so that a property fails for everyone or for nobody. FC_SEED tries other inputs; when a property
// fails, fast-check prints the seed and the path to the counterexample.
const DEFAULT_SEED = 20_260_101

const given = process.env.FC_SEED
const seed = given === undefined || given === '' ? DEFAULT_SEED : Number(given)
if (!Number.isSafeInteger(seed)) throw new Error(`FC_SEED is "${given}", but must be an integer.`)

fc.configureGlobal({ seed, includeErrorInReport: true })
