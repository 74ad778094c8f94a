// Draws nodes that the server sends as lists: [name, attributes, inside]. Texts are texts, never HTML.
import { h } from "vue";

const build = (node) => (typeof node === "string" ? node : h(node[0], node[1], node[2].map(build)));

export default {
  props: { nodes: { type: Array, default: () => [] } },
  emits: ["act"],
  render() {
    const act = (event) => {
      const button = event.target.closest("[data-act]");
      if (button) this.$emit("act", button.dataset.act);
    };
    return h("div", { class: "st-part", onClick: act }, this.nodes.map(build));
  },
};
