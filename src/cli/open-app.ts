/** Opens the app with the settings of this run, and reports invalid ones. */
import { App } from '../app.ts'
import { describeConfigProblem } from '../config/config.ts'
import { thisMachine } from '../lib/files/data-directory.ts'
import { AppError } from '../model/error.ts'
import { configFlags } from './config-flags.ts'
import { localize } from './language.ts'
import { writeErr } from './output.ts'

async function openApp(): Promise<App> {
  const app = createApp()
  for (const problem of (await app.config()).problems) {
    if (problem.where === '--set') throw new AppError('bad_usage', describeConfigProblem(problem))
    await writeErr(`fumi: ${localize(describeConfigProblem(problem))}\n`)
  }
  return app
}

/** Closes the app when the work is done. */
export async function withApp<T>(work: (app: App) => Promise<T>): Promise<T> {
  const app = await openApp()
  try {
    return await work(app)
  } finally {
    app.close()
  }
}

/** For commands that report invalid settings themselves. */
export const createApp = (): App => new App(thisMachine(), { flags: configFlags() })
