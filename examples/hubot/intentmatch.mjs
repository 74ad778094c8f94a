// Description:
//   Answers messages by their intent, with an intentmatch webhook.
//
// Configuration:
//   INTENTMATCH_URL - URL of the webhook; http://localhost:8080 if not set
//   INTENTMATCH_KEY - key, if the webhook requires one

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

  // Listeners decide synchronously, so the middleware finds the intent before they run.
  robot.receiveMiddleware(async ({ response: { message } }) => {
    const said = message.text?.match(addressed)?.[1]
    try {
      if (said) message.turn = await take(said, `hubot:${message.room}:${message.user.id}`)
    } catch (error) {
      robot.logger.error(`intentmatch: ${error.message}`)
    }
    return true
  })

  // An action of the bot. The YAML answers all other intents.
  robot.listen((message) => message.turn?.intent === 'order_status', { id: 'order_status' }, async (res) => {
    const order = res.message.turn.entities.find(({ slot }) => slot === 'order').value
    await res.reply(`${order}: ${PARCELS[order] ?? '?'}`)
  })
  robot.listen((message) => message.turn?.text, { id: 'said' }, (res) => res.reply(res.message.turn.text))
  robot.listen((message) => message.turn?.understood === false, { id: 'fallback' }, (res) =>
    res.reply('Sorry, I can only help with orders and opening hours.'))
}
