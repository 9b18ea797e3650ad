/** The house as a command enters it: with the settings of this run, and a word about those that are wrong. */
import { House } from '../app.ts'
import { describeConfigProblem } from '../config.ts'
import { thisMachine } from '../lib/files/data-directory.ts'
import { AppError } from '../model/error.ts'
import { inWords } from './language.ts'
import { writeErr } from './output.ts'
import { flagsOfRun } from './run/flags.ts'

/** Who opens it closes it. */
export async function openHouse(): Promise<House> {
  const house = quietHouse()
  for (const problem of (await house.config()).problems) {
    if (problem.where === '--set') throw new AppError('bad_usage', describeConfigProblem(problem))
    await writeErr(`fumi: ${inWords(describeConfigProblem(problem))}\n`)
  }
  return house
}

/** For commands that tell of problems in their own way. */
export const quietHouse = (): House => new House(thisMachine(), { flags: flagsOfRun() })
