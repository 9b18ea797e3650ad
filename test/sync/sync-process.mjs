/** Syncs in a separate process that may be killed at any moment: `sync-process.mjs <home> <data>`. */
import { App } from '../../dist/app.js'

const [, , home, data] = process.argv
const app = new App({ platform: 'linux', home, variables: { FUMI_HOME: data, XDG_DATA_HOME: `${home}/data` } })
const outcome = await app.sync({ onProgress: () => process.stdout.write('.') })
process.stdout.write(outcome.kind)
app.close()
