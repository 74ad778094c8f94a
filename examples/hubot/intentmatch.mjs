// Description:
//   Answers what people mean, by the intents of an intentmatch webhook.
//
// Configuration:
//   INTENTMATCH_URL - where it is served; http://localhost:8080 if not set
//   INTENTMATCH_KEY - a key, where it asks for one

const URL = process.env.INTENTMATCH_URL ?? 'http://localhost:8080'
const KEY = process.env.INTENTMATCH_KEY
const PARCELS = { 1234: 'in Munich', 2001: 'at your door' }

async function take (text, conversation) {
  const headers = { 'content-type': 'application/json', ...(KEY && { 'x-api-key': KEY }) }
  const answer = await fetch(`${URL}/chat`, { method: 'POST', headers, body: JSON.stringify({ text, conversation }) })
  if (!answer.ok) throw new Error(`${URL}/chat answers ${answer.status}: ${await answer.text()}`)
  return answer.json()
}

export default (robot) => {
  const addressed = robot.respondPattern(/(.+)/is)

  // Listeners decide at once, so that the message is understood before they are asked.
  robot.receiveMiddleware(async ({ response: { message } }) => {
    const said = message.text?.match(addressed)?.[1]
    try {
      if (said) message.turn = await take(said, `hubot:${message.room}:${message.user.id}`)
    } catch (error) {
      robot.logger.error(`intentmatch: ${error.message}`)
    }
    return true
  })

  // What the bot does itself. All other intents are answered by the YAML.
  robot.listen((message) => message.turn?.intent === 'order_status', { id: 'order_status' }, async (res) => {
    const order = res.message.turn.entities.find(({ slot }) => slot === 'order').value
    await res.reply(`${order}: ${PARCELS[order] ?? '?'}`)
  })
  robot.listen((message) => message.turn?.text, { id: 'said' }, (res) => res.reply(res.message.turn.text))
  robot.listen((message) => message.turn?.understood === false, { id: 'fallback' }, (res) =>
    res.reply('Sorry, I can only help with orders and opening hours.'))
}
