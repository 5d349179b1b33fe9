// What Netron makes of a model file, as JSON: node netron_reads.mjs FOLDER_OF_NETRON FILE
// Netron's viewer is a web page; its model classes run without one (base.js and view.js of netron 9.3.3).
import fs from 'fs';
import path from 'path';
import url from 'url';

const [folder, file] = process.argv.slice(2);
const load = (name) => import(url.pathToFileURL(path.join(folder, name)).href);
const base = await load('base.js');
const view = await load('view.js');

const stream = (file) => new base.BinaryStream(new Uint8Array(fs.readFileSync(file)));
const require = (id) => load(id.endsWith('.js') ? id : `${id}.js`);
const error = (reason) => { throw reason; };
const context = {
    identifier: path.basename(file),
    stream: stream(file),
    entries: new Map(),
    fetch: async (name) => stream(path.join(path.dirname(file), name)),
    asset: async (name) => fs.readFileSync(path.join(folder, name), 'utf-8'),
    require, error
};
const host = { require, error, document: { body: null }, environment: () => null };
const model = await new view.ModelFactoryService(host).open(context);

const values = (parts) => parts.map((part) => ({
    name: part.name,
    values: part.value.map((value) => ({ name: value.name, type: value.type ? value.type.toString() : null, stored: Boolean(value.initializer) }))
}));
const graph = model.modules[0];
console.log(JSON.stringify({
    format: model.format,
    inputs: values(graph.inputs),
    outputs: values(graph.outputs),
    nodes: graph.nodes.map((node) => ({ type: node.type.name, inputs: values(node.inputs), outputs: values(node.outputs) }))
}));
