// The search of the site runs in a worker, which browsers refuse to a page that is a file: its script runs in a frame there.
if (location.protocol === "file:") {
  const run = (frame, source) =>
    new Promise((resolve, reject) => {
      const script = Object.assign(frame.document.createElement("script"), { src: source, onload: resolve, onerror: reject })
      frame.document.body.append(script)
    })

  window.Worker = window.IFrameWorker = class extends EventTarget { // the script of the worker asks for this second name
    constructor(source) {
      super()
      const element = Object.assign(document.createElement("iframe"), { hidden: true })
      document.body.append(element)
      const frame = (this.frame = element.contentWindow)
      frame.document.open()
      frame.document.write("<body></body>")
      frame.document.close()
      frame.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      frame.importScripts = async (...sources) => { for (const each of sources) await run(frame, each) }
      this.started = run(frame, source)
    }

    async postMessage(data) {
      await this.started
      this.frame.dispatchEvent(new MessageEvent("message", { data }))
    }
  }
}
