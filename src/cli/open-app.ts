/** The app as a command opens it: with the settings of this run, and a word about those that are wrong. */
import { App } from '../app.ts'
import { describeConfigProblem } from '../config/config.ts'
import { thisMachine } from '../lib/files/data-directory.ts'
import { AppError } from '../model/error.ts'
import { configFlags } from './config-flags.ts'
import { localize } from './language.ts'
import { writeErr } from './output.ts'

/** Who opens it closes it. */
export async function openApp(): Promise<App> {
  const app = createApp()
  for (const problem of (await app.config()).problems) {
    if (problem.where === '--set') throw new AppError('bad_usage', describeConfigProblem(problem))
    await writeErr(`fumi: ${localize(describeConfigProblem(problem))}\n`)
  }
  return app
}

/** For commands that tell of problems in their own way. */
export const createApp = (): App => new App(thisMachine(), { flags: configFlags() })
