/** The 3D scene of an arm: the camera that the reader turns, the floor, the target, the ghosts. */
import {
  AmbientLight, Box3, Color, DirectionalLight, GridHelper, Group, Mesh, MeshBasicMaterial,
  MeshStandardMaterial, OrthographicCamera, PCFShadowMap, PlaneGeometry, Raycaster, Scene,
  ShadowMaterial, SphereGeometry, Vector2, Vector3, WebGLRenderer,
} from "three";

import { ArmShape, armLength, rod, stretch } from "./arm_shape.mjs";

const GRAB = 26; // distance from the target within which a pointer takes it [px]
const GHOST_OPACITY = 0.2;

/** Draws one arm into a canvas, when something has changed. */
export class Stage {
  /**
   * @param {HTMLCanvasElement} canvas
   * @throws {Error} There is no WebGL.
   */
  constructor(canvas) {
    this.canvas = canvas;
    this.renderer = new WebGLRenderer({ canvas, antialias: true, alpha: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFShadowMap;
    this.scene = new Scene();
    this.camera = new OrthographicCamera(-1, 1, 1, -1, -20, 40);
    this.camera.up.set(0, 0, 1);
    this.view = { turn: -0.75, tilt: 0.36, size: 1.0, middle: new Vector3() };
    this.materials = {
      link: new MeshStandardMaterial({ roughness: 0.55 }),
      joint: new MeshStandardMaterial({ roughness: 0.6 }),
      moved: new MeshStandardMaterial({ roughness: 0.5 }),
      ghost: new MeshStandardMaterial({ transparent: true, opacity: GHOST_OPACITY, depthWrite: false }),
      // In front of all else, in one colour without light: it must be easy to see.
      target: new MeshBasicMaterial({ transparent: true, depthTest: false }),
      toTarget: new MeshBasicMaterial(),
      toTip: new MeshBasicMaterial(),
      grid: null,
    };
    this.light = new DirectionalLight(0xffffff, 2.2);
    this.light.castShadow = true;
    this.light.shadow.mapSize.set(1024, 1024);
    this.floor = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.18 }));
    this.floor.receiveShadow = true;
    this.target = new Mesh(new SphereGeometry(1, 28, 20), this.materials.target);
    this.target.renderOrder = 1;
    this.axes = this.#axes();
    this.ghosts = new Group();
    this.shapes = []; // of the ghosts
    this.lines = [this.materials.toTip, this.materials.toTarget].map((each) =>
      rod(new Vector3(), new Vector3(0, 0, 1), 1, each));
    this.scene.add(new AmbientLight(0xffffff, 1.5), this.light, this.light.target, this.floor,
      this.target, this.axes, this.ghosts, ...this.lines);
    this.frame = 0;
    this.recolor();
    new ResizeObserver(() => this.redraw()).observe(canvas);
    new MutationObserver(() => this.recolor()).observe(document.body, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.recolor());
  }

  /** Show another arm; the view is centred on what it holds at some joint values. */
  setArm(arm, q) {
    this.shape?.dispose();
    this.shapes.forEach((each) => each.dispose());
    this.shapes = [];
    this.shape = new ArmShape(arm, this.materials);
    this.scene.add(this.shape.root);
    const size = armLength(arm);
    const radius = this.shape.radius;
    this.shape.move(q);
    const points = [new Vector3(), ...Array.from(q.keys(), (i) => this.shape.joint(i)), place(arm.fk(q))];
    new Box3().setFromPoints(points).getCenter(this.view.middle);
    this.view.size = size;
    this.target.scale.setScalar(1.5 * radius);
    this.axes.scale.setScalar(5 * radius);
    this.floor.scale.setScalar(6 * size);
    this.light.position.set(0.5 * size, -0.7 * size, 2.2 * size);
    Object.assign(this.light.shadow.camera, { left: -1.2 * size, right: 1.2 * size, top: 1.2 * size,
      bottom: -1.2 * size, near: 0.1 * size, far: 5 * size });
    this.light.shadow.camera.updateProjectionMatrix();
    this.#setGrid(size);
  }

  /**
   * Draw a state.
   * @param {object} state
   * @param {Float64Array} state.q
   * @param {Float64Array} state.pose Of the target.
   * @param {boolean} state.oriented Whether the target is a pose.
   * @param {Float64Array[]} state.ghosts Configurations, drawn lightly.
   * @param {number} state.joint A joint with the lines of its CCD step; -1 for none.
   */
  show({ q, pose, oriented, ghosts, joint }) {
    const target = place(pose);
    this.shape.move(q);
    this.shape.highlight(joint, this.materials.moved, this.materials.joint);
    this.target.position.copy(target);
    this.axes.visible = oriented;
    this.axes.matrix.set(...pose);
    this.axes.matrix.scale(this.axes.scale);
    this.#setGhosts(ghosts);
    this.lines.forEach((each) => (each.visible = joint >= 0));
    if (joint >= 0) {
      const from = this.shape.joint(joint);
      [place(this.shape.arm.fk(q)), target].forEach((end, k) => {
        stretch(this.lines[k], from, end);
        this.lines[k].matrix.scale(new Vector3(0.25, 0.25, 1).multiply(new Vector3(this.shape.radius, this.shape.radius, 1)));
      });
    }
    this.redraw();
  }

  /** Draw with the next frame of the screen. */
  redraw() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.#draw());
  }

  /** Take the colours from the page's style, which may be light or dark. */
  recolor() {
    const style = getComputedStyle(this.canvas);
    const color = (name) => new Color(style.getPropertyValue(`--live-${name}`).trim() || "#888");
    for (const name of ["link", "joint", "moved", "ghost", "target"]) {
      this.materials[name].color = color(name);
    }
    this.materials.toTip.color = color("moved");
    this.materials.toTarget.color = color("target");
    this.materials.grid?.color.copy(color("grid"));
    this.redraw();
  }

  /** Turn the view by a drag [px]. */
  turn(dx, dy) {
    this.view.turn -= dx / 150;
    this.view.tilt = Math.max(-0.1, Math.min(1.5, this.view.tilt + dy / 150));
    this.redraw();
  }

  /** Whether a place on the canvas [px] is on the target. */
  onTarget(x, y) {
    const { x: u, y: v } = this.target.position.clone().project(this.camera);
    const { clientWidth: width, clientHeight: height } = this.canvas;
    return Math.hypot(x - ((u + 1) * width) / 2, y - ((1 - v) * height) / 2) < GRAB;
  }

  /** The number of the ghost at a place on the canvas [px]; -1 for none. */
  ghostAt(x, y) {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * x) / width - 1, 1 - (2 * y) / height), this.camera);
    const visible = this.shapes.filter((each) => each.root.visible);
    const [hit] = ray.intersectObjects(visible.map((each) => each.root));
    return visible.findIndex((each) => hit && each.bodies.includes(hit.object.parent));
  }

  /** Right and up on the screen, base frame; and metres a pixel. */
  screen() {
    const { turn, tilt } = this.view;
    const [c, s, up] = [Math.cos(turn), Math.sin(turn), Math.sin(tilt)];
    const metres = (this.camera.top - this.camera.bottom) / this.canvas.clientHeight;
    return { right: [-s, c, 0], up: [-up * c, -up * s, Math.cos(tilt)], metres };
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (!width || !height) return;
    const { turn, tilt, size, middle } = this.view;
    const ratio = Math.min(window.devicePixelRatio, 2);
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    const half = (0.58 * size) / Math.min(1, width / height);
    Object.assign(this.camera, { left: (-half * width) / height, right: (half * width) / height, top: half, bottom: -half });
    const away = new Vector3(Math.cos(turn) * Math.cos(tilt), Math.sin(turn) * Math.cos(tilt), Math.sin(tilt));
    this.camera.position.copy(middle).addScaledVector(away, 4 * size);
    this.camera.lookAt(middle);
    this.camera.updateProjectionMatrix();
    this.renderer.render(this.scene, this.camera);
  }

  #setGhosts(ghosts) {
    while (this.shapes.length < ghosts.length) {
      const { ghost } = this.materials;
      const shape = new ArmShape(this.shape.arm, { link: ghost, joint: ghost });
      shape.root.traverse((each) => (each.castShadow = false));
      this.ghosts.add(shape.root);
      this.shapes.push(shape);
    }
    this.shapes.forEach((shape, k) => {
      shape.root.visible = k < ghosts.length;
      if (shape.root.visible) shape.move(ghosts[k]);
    });
  }

  #setGrid(size) {
    this.grid?.removeFromParent();
    this.grid?.geometry.dispose();
    const step = size > 0.5 ? 0.2 : 0.05; // [m]
    const count = 2 * Math.ceil(size / step);
    this.grid = new GridHelper(count * step, count).rotateX(Math.PI / 2);
    Object.assign(this.grid.material, { vertexColors: false, transparent: true, opacity: 0.5 });
    this.grid.material.needsUpdate = true;
    this.materials.grid = this.grid.material;
    this.scene.add(this.grid);
    this.recolor();
  }

  /** The directions of the target's x, y and z axes. */
  #axes() {
    const group = new Group();
    group.matrixAutoUpdate = false;
    [[1, 0, 0, "#d55e00"], [0, 1, 0, "#009e73"], [0, 0, 1, "#0072b2"]].forEach(([x, y, z, color]) =>
      group.add(rod(new Vector3(), new Vector3(x, y, z), 0.06, new MeshBasicMaterial({ color }))));
    return group;
  }
}

function place(pose) {
  return new Vector3(pose[3], pose[7], pose[11]);
}
