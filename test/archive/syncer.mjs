/** Brings an index up to date in a process of its own, which may be killed at any moment: `syncer.mjs <home> <data>`. */
import { House } from '../../dist/app.js'

const [, , home, data] = process.argv
const house = new House({ platform: 'linux', home, variables: { FUMI_HOME: data, XDG_DATA_HOME: `${home}/data` } })
const outcome = await house.sync({ onProgress: () => process.stdout.write('.') })
process.stdout.write(outcome.kind)
house.close()
